// Elements with text. Text is only ever put in as text.

const dom = (() => {
  function make(tag, given = {}, ...inside) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined || value === null) continue;
      if (name === "text") element.textContent = value;
      else if (name === "does") element.addEventListener("click", value);
      else if (value !== false || name.startsWith("aria-")) element.setAttribute(name, String(value));
    }
    element.append(...inside.filter((part) => part !== null && part !== undefined));
    return element;
  }
  return { make, get: (id) => document.getElementById(id) };
})();
const { make } = dom;
const readable = (word) => word.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2");
const many = (count, noun) => `${count.toLocaleString("en")} ${count === 1 ? noun : `${noun}s`}`;
