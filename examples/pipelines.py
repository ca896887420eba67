"""Pipelines of scikit-learn, which read texts and predict classes."""

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.svm import LinearSVC


def characters() -> Pipeline:
    """Return a linear SVM on n-grams of three to five characters."""
    return make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5)), LinearSVC())


def words_and_characters() -> Pipeline:
    """Return a linear SVM on words and n-grams of characters."""
    words, parts = TfidfVectorizer(sublinear_tf=True), TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5))
    return make_pipeline(make_union(words, parts), LinearSVC())
