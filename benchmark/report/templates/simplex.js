// Points in the triangle of trinomials, their images on the sphere under θ ↦ 2√θ, and the lengths between them.
{
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const onSphere = theta => theta.map(x => 2 * Math.sqrt(x));
const unit = theta => { const whole = theta.map(x => Math.max(0, x)), sum = whole.reduce((a, b) => a + b); return whole.map(x => x / sum); };
const lengths = (p, q) => {
  const [u, v] = [onSphere(p), onSphere(q)], chord = Math.hypot(...u.map((x, i) => x - v[i]));
  // The arcsine of half of the chord is more exact than the arccosine of Σ√(pq) where points are near.
  return {geodesic: 4 * Math.asin(Math.min(1, chord / 4)), chord, straight: Math.hypot(...p.map((x, i) => x - q[i]))};
};

// The triangle, and the sphere as seen from 55° east and 22° north, in hundredths of an edge and of a diameter.
const inTriangle = ([, second, third]) => [100 * (second + third / 2), -100 * Math.sqrt(.75) * third];
const [east, north] = [55 * Math.PI / 180, 22 * Math.PI / 180];
const right = [-Math.sin(east), Math.cos(east), 0];
const up = [-Math.sin(north) * Math.cos(east), -Math.sin(north) * Math.sin(east), Math.cos(north)];
const seen = u => [30 * dot(u, right), -30 * dot(u, up)];
const inSphere = theta => seen(onSphere(theta));

const path = places => "M" + places.map(place => place.map(x => x.toFixed(2)).join(" ")).join("L");
const between = (a, b, pieces = 32) => Array.from({length: pieces + 1}, (_, i) => a.map((x, c) => x + (b[c] - x) * i / pieces));
const along = (p, q) => { // the points of the geodesic: of a great circle, squared
  const [u, v] = [p, q].map(theta => theta.map(Math.sqrt)), angle = Math.acos(Math.min(1, dot(u, v)));
  if (angle < 1e-6) return [p, q];
  return Array.from({length: 65}, (_, i) => u.map((x, c) => (Math.sin((1 - i / 64) * angle) * x + Math.sin(i / 64 * angle) * v[c]) / Math.sin(angle)).map(x => x * x));
};

// Return the class of each point of the grid, by the row of its third coordinate and its place along the second.
function classesOf(rows, n) {
  return rows.map((switches, k) => Array.from({length: n - k + 1}, (_, j) => switches.filter(at => at <= j).length % 2));
}

function region(rows, n, where) { // of class 1: a strip for each run of the grid
  const strip = (k, from, to) => {
    const edge = (third, reverse) => {
      const ends = [from, to].map(j => Math.min(Math.max((j - .5) / n, 0), 1 - third));
      const pieces = Math.max(1, Math.ceil((to - from) / 6)), steps = Array.from({length: pieces + 1}, (_, i) => ends[0] + (ends[1] - ends[0]) * i / pieces);
      return (reverse ? steps.reverse() : steps).map(second => where([Math.max(0, 1 - second - third), second, third]));
    };
    return path([...edge(Math.max(0, (k - .5) / n)), ...edge(Math.min(1, (k + .5) / n), true)]) + "Z";
  };
  return rows.flatMap((switches, k) => switches.filter((_, i) => i % 2 === 0).map((from, i) => strip(k, from, switches[2 * i + 1] ?? n - k + 1))).join("");
}

function boundary(rows, n, where) { // through the middles of those edges of the grid whose ends differ in class
  const classes = classesOf(rows, n), found = [];
  const cross = corners => {
    const middles = [[0, 1], [1, 2], [0, 2]].filter(([a, b]) => classes[corners[a][1]][corners[a][0]] !== classes[corners[b][1]][corners[b][0]])
      .map(([a, b]) => [(corners[a][0] + corners[b][0]) / 2 / n, (corners[a][1] + corners[b][1]) / 2 / n]);
    if (middles.length) found.push(path(middles.map(([second, third]) => where([1 - second - third, second, third]))));
  };
  for (let k = 0; k < n; k++) for (let j = 0; j + k < n; j++) {
    cross([[j, k], [j + 1, k], [j, k + 1]]);
    if (j + k < n - 1) cross([[j + 1, k], [j, k + 1], [j + 1, k + 1]]);
  }
  return found.join("");
}

function draw(tag, parent, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

all(".simplex").forEach(place => {
  const data = JSON.parse(place.firstElementChild.textContent), n = data.steps, ends = {p: [.06, .1, .84], q: [.86, .1, .04]};
  const corners = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], sides = corners.flatMap((corner, i) => between(corner, corners[(i + 1) % 3]));
  const views = [inTriangle, inSphere].map((where, i) => {
    const svg = place.querySelectorAll("svg")[i], line = (from, to) => path(between(from, to).map(where));
    const view = {svg, where, inside: draw("path", svg, {class: "class0", d: path(sides.map(where)) + "Z"}), class1: draw("path", svg, {class: "class1"})};
    const grid = [.25, .5, .75].flatMap(x => [[[x, 1 - x, 0], [x, 0, 1 - x]], [[1 - x, x, 0], [0, x, 1 - x]], [[1 - x, 0, x], [0, 1 - x, x]]]);
    draw("path", svg, {class: "lattice", d: grid.map(([from, to]) => line(from, to)).join("")});
    draw("path", svg, {class: "best", d: boundary(data.likelier, n, where)});
    view.boundary = draw("path", svg, {class: "decision"});
    draw("path", svg, {class: "outline", d: path(sides.map(where)) + "Z"});
    for (const [...point] of data.points) {
      const label = point.pop(), [x, y] = where(point);
      draw("path", svg, {class: `trained of${label}`, d: label ? "M0-1.5L1.4 1H-1.4Z" : "M-1.1 0a1.1 1.1 0 1 0 2.2 0a1.1 1.1 0 1 0-2.2 0", transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})`});
    }
    corners.forEach((corner, i) => {
      const [x, y] = where(corner), [cx, cy] = where([1 / 3, 1 / 3, 1 / 3]), away = 1 + 7 / Math.hypot(x - cx, y - cy);
      draw("text", svg, {x: cx + (x - cx) * away, y: cy + (y - cy) * away + 2, class: "corner"}, data.corners[i]);
    });
    view.geodesic = draw("path", svg, {class: "geodesic"});
    view.straight = draw("path", svg, {class: i ? "chord" : "straight"});
    view.ends = Object.fromEntries(Object.keys(ends).map(name => {
      const group = draw("g", svg, {class: "end"});
      draw("circle", group, {r: 6, class: "reach"});
      draw("circle", group, {r: 2.6});
      draw("text", group, {x: 3.6, y: -3.2}, name);
      return [name, group];
    }));
    return view;
  });
  const classAt = (rows, theta) => {
    const k = Math.round(theta[2] * n), j = Math.min(Math.round(theta[1] * n), n - k);
    return data.classes[rows[k].filter(at => at <= j).length % 2];
  };

  function update() {
    const {p, q} = ends, found = lengths(p, q);
    for (const {where, ends: handles, straight, geodesic} of views) {
      geodesic.setAttribute("d", path(along(p, q).map(where)));
      straight.setAttribute("d", path([p, q].map(where)));
      for (const [name, handle] of Object.entries(handles)) handle.setAttribute("transform", `translate(${where(ends[name]).map(x => x.toFixed(3)).join(" ")})`);
    }
    const write = (selector, text, exact) => { Object.assign(place.querySelector(selector), {textContent: text}).dataset.exact = exact; };
    for (const [name, value] of Object.entries(found)) write(`[data-length=${name}]`, value.toFixed(4), value);
    for (const [name, theta] of Object.entries(ends)) {
      const text = theta.map(x => x.toFixed(3)).join(", "), handle = views[0].ends[name];
      write(`[data-point=${name}]`, text, theta.join(" "));
      handle.setAttribute("aria-valuenow", theta[2].toFixed(3));
      handle.setAttribute("aria-valuetext", `${text}; geodesic ${found.geodesic.toFixed(3)}, chord ${found.chord.toFixed(3)}`);
    }
    data.kernels.forEach((kernel, i) => { place.querySelector(`[data-of="${i}"]`).textContent = classAt(kernel.rows, p); });
    place.querySelector("[data-of=likelier]").textContent = classAt(data.likelier, p);
  }
  const move = (name, theta) => { ends[name] = unit(theta); update(); };

  for (const [name, handle] of Object.entries(views[0].ends)) {
    for (const [key, value] of Object.entries({role: "slider", tabindex: 0, "aria-label": `point ${name}`, "aria-valuemin": 0, "aria-valuemax": 1})) handle.setAttribute(key, value);
    const follow = event => {
      const {x, y} = new DOMPoint(event.clientX, event.clientY).matrixTransform(views[0].svg.getScreenCTM().inverse());
      const third = -y / 100 / Math.sqrt(.75), second = x / 100 - third / 2;
      move(name, [1 - second - third, second, third]);
    };
    handle.addEventListener("pointerdown", event => { handle.setPointerCapture(event.pointerId); handle.focus(); event.preventDefault(); });
    handle.addEventListener("pointermove", event => { if (handle.hasPointerCapture(event.pointerId)) follow(event); });
    handle.addEventListener("keydown", event => {
      const step = event.shiftKey ? .1 : .01, by = {ArrowRight: [-1, 1, 0], ArrowLeft: [1, -1, 0], ArrowUp: [-.5, -.5, 1], ArrowDown: [.5, .5, -1]}[event.key];
      if (!by) return;
      event.preventDefault();
      move(name, ends[name].map((x, i) => x + step * by[i]));
    });
  }
  const buttons = all("[data-kernel]", place);
  const choice = number => {
    for (const view of views) {
      view.class1.setAttribute("d", region(data.kernels[number].rows, n, view.where));
      view.boundary.setAttribute("d", boundary(data.kernels[number].rows, n, view.where));
    }
    buttons.forEach((each, i) => each.setAttribute("aria-pressed", i === number));
  };
  buttons.forEach((each, i) => each.addEventListener("click", () => choice(i)));
  choice(data.kernels.length - 1);
  update();
});
}
