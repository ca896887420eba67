"""Write a vector of each document, by any model that sentence-transformers reads.

    python embed.py pages.csv MODEL vectors.parquet --text text --id id

MODEL is a folder, or a name that sentence-transformers downloads. The file has the columns `id` and `vector`.
"""

from __future__ import annotations

import argparse

import pandas as pd


def main() -> None:
    """Read the table, embed its texts, and write the vectors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="a CSV file of documents")
    parser.add_argument("model", help="a folder of sentence-transformers")
    parser.add_argument("vectors", help="the Parquet file to write")
    parser.add_argument("--text", default="text", help="column of the texts")
    parser.add_argument("--id", default="id", help="column of the ids")
    given = parser.parse_args()
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - takes seconds; --help does without

    documents = pd.read_csv(given.table, dtype={given.id: str})
    vectors = SentenceTransformer(given.model, device="cpu").encode(documents[given.text].tolist())
    pd.DataFrame({"id": documents[given.id], "vector": list(vectors)}).to_parquet(given.vectors)


if __name__ == "__main__":
    main()
