"use strict";
// Draws each figure in the page's colours, and again when those or the width of the window change.
(() => {
  const NARROW = 640;
  const NOTHING = "\u00a0"; // where Plotly drew no text at all, it draws none later
  const figures = Array.from(document.querySelectorAll("script[data-figure]"), (holder) => ({
    place: document.getElementById(holder.dataset.figure),
    source: holder.textContent,
  }));

  function hasWebGL() {
    try {
      return Boolean(document.createElement("canvas").getContext("webgl"));
    } catch {
      return false;
    }
  }
  const webgl = hasWebGL();

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function set(object, path, value) {
    const keys = path.split(".");
    const last = keys.pop();
    for (const key of keys) object = object[key] ??= {};
    object[last] = value;
  }

  // Names by the centres in view that have room for them, largest first: at every zoom there are some.
  function nameCenters(place) {
    const index = place.data.findIndex((trace) => trace.meta?.names);
    if (index < 0) return;
    const { x, y, meta } = place._fullData[index];
    const { xaxis, yaxis } = place._fullLayout;
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `bold 13px ${getComputedStyle(document.body).fontFamily}`;
    const boxes = [];
    const hasRoom = (k) => {
      const [across, down] = [xaxis.c2p(x[k]), yaxis.c2p(y[k])];
      const half = pen.measureText(meta.names[k]).width / 2 + 4;
      const [left, right, top, bottom] = [across - half, across + half, down - 26, down - 8];
      if (left < 0 || right > xaxis._length || top < 0 || bottom > yaxis._length) return false;
      if (boxes.some((b) => left < b[1] && b[0] < right && top < b[3] && b[2] < bottom)) return false;
      return boxes.push([left, right, top, bottom]);
    };
    const named = Array(meta.names.length).fill(NOTHING);
    for (const k of meta.order) if (hasRoom(k)) named[k] = meta.names[k];
    place.data[index].text = named;
    Plotly.redraw(place);
  }

  function draw({ place, source }) {
    const { data, layout } = JSON.parse(source);
    const paper = document.documentElement.classList.contains("on-paper");
    const narrow = paper || place.clientWidth < NARROW;
    for (const trace of data) {
      if (trace.type === "scattergl" && !webgl) trace.type = "scatter";
      for (const [path, name] of Object.entries(trace.meta?.theme ?? {})) set(trace, path, color(name));
    }
    layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
    layout.font = { family: getComputedStyle(document.body).fontFamily, size: 13, color: color("--ink") };
    layout.hoverlabel = { bgcolor: color("--card"), bordercolor: color("--rule"), font: { color: color("--ink") } };
    layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: color("--muted"), activecolor: color("--ink") };
    layout.margin = { l: 56, r: 12, t: 32, b: 48 };
    for (const axis of [layout.xaxis, layout.yaxis]) {
      Object.assign(axis, { gridcolor: color("--grid"), linecolor: color("--rule"), automargin: true });
      axis.title = { ...axis.title, font: { size: 13, color: color("--muted") }, standoff: 10 };
    }
    const wide = place.dataset.figure === "map";
    layout.height = Number(place.dataset.height) * (narrow && wide ? 0.72 : 1);
    if (narrow && wide) {
      layout.legend = { ...layout.legend, orientation: "h", x: 0, y: -0.08, yanchor: "top" };
      // A long legend would leave no room for the map; the hover text names the cluster.
      if (data.length > 16) {
        for (const trace of data) if (trace.legendgroup !== undefined) trace.showlegend = false;
      }
    }
    Plotly.react(place, data, layout, {
      responsive: true,
      displaylogo: false,
      // Named one by one: among Plotly's own choice there is one that sends the data to a server.
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "autoScale2d", "resetScale2d"]],
      plotlyServerURL: "",
    }).then(() => {
      nameCenters(place);
      place.removeAllListeners("plotly_relayout");
      place.on("plotly_relayout", () => nameCenters(place));
    });
  }

  function drawAll() {
    for (const figure of figures) draw(figure);
  }

  function onPaper(yes) {
    document.documentElement.classList.toggle("on-paper", yes);
    drawAll();
  }

  let wasNarrow = window.innerWidth < NARROW;
  window.addEventListener("resize", () => {
    if (wasNarrow !== window.innerWidth < NARROW) {
      wasNarrow = !wasNarrow;
      drawAll();
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => onPaper(true));
  window.addEventListener("afterprint", () => onPaper(false));
  drawAll();
})();
