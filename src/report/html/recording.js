// Draws the calls and says of one what it missed and why. Everything that the program named is set as text.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { texts, functions, kinds, calls, nearest, tried } = data;
  const differences = data.differences.map((difference) => difference.map((text) => texts[text]));
  const states = ["hit", "dispatch", "compile", "lower", "trace", "error"];
  const section = document.querySelector("div.calls");
  const canvas = section.querySelector("canvas");
  const frame = canvas.parentElement;
  const form = section.querySelector("form.go");
  const details = section.querySelector("article.call");
  const kindOf = (number) => kinds[calls[number - 1]];
  const nameOf = (kind) => texts[functions[kind.function][1]];
  const isDoubtful = (kind) => kind.unpredicted !== null || kind.otherwise !== null;
  let selected = 0;
  let only = { state: null, function: null };
  let columns = 1;
  let size = 8;

  const shown = (kind) =>
    (only.state === null || kind.state === only.state) && (only.function === null || kind.function === only.function);
  const isFiltered = () => only.state !== null || only.function !== null;
  // What Page Up and Page Down stop at.
  const stops = (kind) => (isFiltered() ? shown(kind) : kind.again || isDoubtful(kind) || kind.stale !== null || kind.state === "error");
  const next = (from, step) => {
    for (let i = from + step; i >= 1 && i <= calls.length; i += step) if (stops(kindOf(i))) return i;
    return null;
  };

  const colour = (word) => getComputedStyle(section.querySelector(`.cell.${word}`)).backgroundColor;
  const draw = () => {
    const width = frame.clientWidth - 2 * parseFloat(getComputedStyle(frame).paddingLeft);
    const heightAt = (cell) => Math.ceil(calls.length / Math.max(1, Math.floor(width / cell))) * cell;
    size = [24, 18, 14, 11, 9, 8, 7, 6].find((cell) => heightAt(cell) <= 540) ?? [6, 5, 4, 3, 2].find((cell) => heightAt(cell) <= 8000) ?? 2;
    columns = Math.max(1, Math.floor(width / size));
    const height = heightAt(size);
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const colours = Object.fromEntries(states.map((word) => [word, colour(word)]));
    const style = getComputedStyle(document.body);
    const [ink, bad] = [style.color, style.getPropertyValue("--bad")];
    const gap = size > 4 ? 1 : 0;
    const inner = size - gap;
    calls.forEach((_, i) => {
      const kind = kindOf(i + 1);
      const [x, y] = [(i % columns) * size, Math.floor(i / columns) * size];
      pen.globalAlpha = shown(kind) ? 1 : 0.12;
      pen.fillStyle = colours[kind.state];
      if (kind.first && kind.state !== "hit" && size > 4) {
        const line = size > 10 ? 2 : 1.5;
        pen.strokeStyle = colours[kind.state];
        pen.lineWidth = line;
        pen.strokeRect(x + line / 2, y + line / 2, inner - line, inner - line);
      } else {
        pen.fillRect(x, y, inner, inner);
      }
      if (isDoubtful(kind) && size > 4) {
        pen.strokeStyle = ink;
        pen.lineWidth = size > 10 ? 2 : 1;
        pen.beginPath();
        pen.moveTo(x, y + inner);
        pen.lineTo(x + inner, y);
        pen.stroke();
      }
      if (kind.stale !== null) {
        pen.fillStyle = bad;
        pen.beginPath();
        pen.arc(x + inner / 2, y + inner / 2, Math.max(1, inner / 3.2), 0, 7);
        pen.fill();
      }
    });
    pen.globalAlpha = 1;
    if (selected) {
      const [x, y] = [((selected - 1) % columns) * size, Math.floor((selected - 1) / columns) * size];
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      pen.strokeRect(x, y, inner, inner);
    }
  };

  const element = (name, about = {}, ...children) => {
    const { data: values = {}, ...rest } = about;
    const made = Object.assign(document.createElement(name), rest);
    Object.assign(made.dataset, values);
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };
  const link = (number) => element("button", { type: "button", className: "call", data: { call: number } }, `${number}`);
  const verdict = (kind) => element("span", { className: `v ${kind.state}` }, texts[kind.did]);

  const table = (list, more) => {
    const cell = (of, className, text) => element("td", { className, data: { of } }, element("code", {}, text));
    const row = ([path, component, before, after]) =>
      element(
        "tr",
        {},
        cell("where", "path", path || "the call"),
        element("td", { data: { of: "what" } }, component),
        cell("before", "", before),
        cell("now", "", after),
      );
    const head = ["where", "what", "before", "now"].map((word) => element("th", { scope: "col" }, word));
    const rows = element("tbody", {}, ...list.map((i) => row(differences[i])));
    const whole = element("table", {}, element("thead", {}, element("tr", {}, ...head)), rows);
    return more ? [whole, element("p", { className: "dim" }, `and ${more} more`)] : [whole];
  };

  // Whose key is nearest: that of a call, one that has no number, or none.
  const whose = (near) => {
    const said = (text) => element("span", { className: "dim" }, text);
    if (typeof near === "number") return [said(": the nearest key is that of call "), link(near)];
    return [said(near[0] === null ? ": no key is near" : `: the nearest key is that of ${texts[near[0]]}`)];
  };

  // Layers of one explanation together.
  const explained = (kind, number) => {
    const parts = new Map();
    kind.layers.forEach(([layer, list, more], i) => {
      const own = list.filter((difference) => differences[difference][1] !== "program");
      const near = nearest[number][i];
      const key = own.length ? JSON.stringify([own, more, near]) : "program";
      if (!parts.has(key)) parts.set(key, { layers: [], list: own, more, near });
      parts.get(key).layers.push(layer);
    });
    return [...parts].flatMap(([key, { layers, list, more, near }]) =>
      key === "program"
        ? [element("h4", {}, layers.join(", "), element("span", { className: "dim" }, ": the layer above made another program"))]
        : [
            element("h4", {}, layers.join(", "), ...whose(near)),
            ...table(list, more),
          ],
    );
  };

  const advice = ([says, fix, rule]) =>
    element(
      "div",
      { className: "advice" },
      element("p", {}, texts[says]),
      element("p", { className: "fix" }, texts[fix]),
      element("p", { className: "rule" }, texts[rule]),
    );

  const alike = (number) => {
    const kind = calls[number - 1];
    const others = [];
    let count = 0;
    for (let i = 0; i < calls.length; i += 1)
      if (calls[i] === kind && i !== number - 1) {
        count += 1;
        if (others.length < 12) others.push(i + 1);
      }
    if (count === 0) return null;
    const more = count > others.length ? element("span", { className: "dim" }, `and ${count - others.length} more`) : null;
    return element("p", { className: "others" }, element("span", { className: "dim" }, "the same: "), ...others.map(link), more);
  };

  const note = (text, className = "dim") => element("p", { className }, text);
  const show = (number) => {
    const kind = kindOf(number);
    const [api, , at] = functions[kind.function];
    const places = [texts[api], at !== null && `written at ${texts[at]}`, kind.from !== null && `called at ${texts[kind.from]}`];
    const notes = [];
    if (kind.unpredicted !== null) notes.push(note(`Not predicted: ${texts[kind.unpredicted]}.`));
    if (kind.otherwise !== null) notes.push(note(`The model says that it ${texts[kind.otherwise]}, so this is not explained.`, "bad"));
    if (kind.first && kind.state !== "hit") notes.push(note("It is the first call of its function: there was no key to find."));
    if (kind.state === "hit") notes.push(note("Everything was found: nothing was made for it."));
    const stale = [];
    if (kind.stale !== null)
      stale.push(element("h4", { className: "bad" }, "The program that served it was traced from something else:"), ...table([kind.stale], 0));
    details.replaceChildren(
      element("h3", {}, `Call ${number}: ${nameOf(kind)} `, verdict(kind)),
      element("p", { className: "at" }, places.filter(Boolean).join(", ")),
      ...notes,
      ...stale,
      ...(kind.otherwise === null ? explained(kind, number) : []),
      ...kind.advice.map(advice),
      ...(number in tried ? [note(texts[tried[number]])] : []),
      ...[alike(number)].filter(Boolean),
    );
  };

  const tell = (number) => {
    const kind = kindOf(number);
    return `call ${number}: ${nameOf(kind)} ${texts[kind.did]}`;
  };

  const select = (number, { reveal = false } = {}) => {
    if (!(number >= 1 && number <= calls.length)) return;
    selected = number;
    history.replaceState(null, "", `#call=${number}`);
    canvas.setAttribute("aria-valuenow", number);
    canvas.setAttribute("aria-valuetext", tell(number));
    form.elements.number.value = number;
    form.elements.back.disabled = next(number, -1) === null;
    form.elements.on.disabled = next(number, 1) === null;
    form.querySelector("output").textContent = "";
    show(number);
    draw();
    const top = Math.floor((number - 1) / columns) * size;
    if (top < frame.scrollTop || top > frame.scrollTop + frame.clientHeight - 3 * size) frame.scrollTop = top - frame.clientHeight / 2;
    if (reveal) details.scrollIntoView({ block: "nearest" });
  };

  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / size);
    const number = Math.floor((event.clientY - box.top) / size) * columns + column + 1;
    return column >= 0 && column < columns && number >= 1 && number <= calls.length ? number : null;
  };

  canvas.addEventListener("click", (event) => under(event) && select(under(event)));
  canvas.addEventListener("pointermove", (event) => {
    const number = under(event);
    form.querySelector("output").textContent = number ? tell(number) : "";
  });
  canvas.addEventListener("pointerleave", () => {
    form.querySelector("output").textContent = "";
  });
  canvas.addEventListener("keydown", (event) => {
    const at = selected || 1;
    const to = {
      ArrowLeft: () => Math.max(1, at - 1),
      ArrowRight: () => Math.min(calls.length, at + 1),
      ArrowUp: () => Math.max(1, at - columns),
      ArrowDown: () => Math.min(calls.length, at + columns),
      Home: () => 1,
      End: () => calls.length,
      PageUp: () => next(at, -1),
      PageDown: () => next(at, 1),
    }[event.key]?.();
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (to) select(to);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    select(Number(form.elements.number.value));
  });
  form.elements.number.addEventListener("change", () => select(Number(form.elements.number.value)));
  form.elements.back.addEventListener("click", () => select(next(selected || 1, -1)));
  form.elements.on.addEventListener("click", () => select(next(selected || 1, 1)));

  const filter = (name, value, button) => {
    const on = only[name] !== value;
    only = { state: null, function: null, [name]: on ? value : null };
    for (const other of document.querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", other === button && on);
    if (selected) select(selected);
    else draw();
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.call) select(Number(button.dataset.call), { reveal: true });
    if (button?.dataset.state) filter("state", states[button.dataset.state], button);
    if (button?.dataset.function) {
      filter("function", Number(button.dataset.function), button);
      if (only.function !== null) section.scrollIntoView({ block: "start" });
    }
  });

  const linked = () => Number(/^#call=(\d+)$/.exec(location.hash)?.[1]);
  window.addEventListener("hashchange", () => select(linked(), { reveal: true }));
  window.addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  section.hidden = false;
  for (const button of document.querySelectorAll("button:disabled[data-call], button:disabled[data-function]")) button.disabled = false;
  draw();
  const mostCostly = Number(document.querySelector("[data-call]")?.dataset.call);
  if (calls.length) select(linked() || mostCostly || next(0, 1) || 1, { reveal: Boolean(linked()) });
})();
