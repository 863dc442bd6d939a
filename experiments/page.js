"use strict";
// Draws each figure in the page's colours, and again when those change.
(() => {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function draw(holder) {
    const { data, layout } = JSON.parse(holder.textContent);
    const axis = ({ title, ...rest }) => ({
      ...rest,
      title: { ...title, font: { size: 13, color: color("--muted") }, standoff: 10 },
      gridcolor: color("--grid"),
      linecolor: color("--rule"),
      automargin: true,
      zeroline: false,
    });
    Object.assign(layout, {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: color("--ink") },
      hoverlabel: { bgcolor: color("--card"), bordercolor: color("--rule"), font: { color: color("--ink") } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: color("--muted"), activecolor: color("--ink") },
      margin: { l: 56, r: 12, t: 32, b: 48 },
      xaxis: axis(layout.xaxis),
      yaxis: axis(layout.yaxis),
    });
    for (const trace of data) if (trace.error_y) trace.error_y.color = color("--muted");
    Plotly.react(document.getElementById(holder.dataset.figure), data, layout, {
      responsive: true,
      displaylogo: false,
      // Named one by one: among Plotly's own choice there is one that sends the data to a server.
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "autoScale2d", "resetScale2d"]],
      plotlyServerURL: "",
    });
  }

  const drawAll = () => document.querySelectorAll("script[data-figure]").forEach(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  drawAll();
})();
