// The search of the site: reads its index once the reader begins to search, and never leaves this origin.
import MiniSearch from './minisearch.js';
import { buildIndex } from './search-index.mjs';

const search = document.querySelector('search');
const input = search.querySelector('input');
const results = search.querySelector('#results');
const root = search.dataset.root;
const SHOWN = 12;

let index;
async function load() {
  const response = await fetch(new URL('search.json', import.meta.url));
  const entries = await response.json();
  return buildIndex(MiniSearch, entries);
}

/** The words around the first match. */
function excerpt({ text, terms }) {
  const lower = text.toLowerCase();
  const at = Math.max(0, Math.min(...terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0)));
  const from = Number.isFinite(at) ? Math.max(0, at - 30) : 0;
  return `${from > 0 ? '…' : ''}${text.slice(from, from + 140)}`;
}

function entry(result) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const context = document.createElement('span');
  link.href = root + result.id;
  link.textContent = result.heading === '' ? result.page : `${result.page}: ${result.heading}`;
  context.textContent = excerpt(result);
  link.append(context);
  item.append(link);
  return item;
}

function message(text) {
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  return paragraph;
}

async function show() {
  const query = input.value.trim();
  results.hidden = query === '';
  if (query === '') return;
  index ??= load();
  const found = (await index).search(query);
  // A later key press has its own turn.
  if (input.value.trim() !== query) return;
  const list = document.createElement('ul');
  list.append(...found.slice(0, SHOWN).map(entry));
  results.replaceChildren(found.length === 0 ? message(`Nothing found for “${query}”.`) : list);
}

function move(step) {
  const links = [input, ...results.querySelectorAll('a')];
  const next = links[links.indexOf(document.activeElement) + step];
  if (next !== undefined) next.focus();
}

input.addEventListener('input', show);
if (input.value !== '') void show();
input.addEventListener('focus', show);
search.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    results.hidden = true;
    input.focus();
    results.hidden = true;
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    move(event.key === 'ArrowDown' ? 1 : -1);
  } else if (event.key === 'Enter' && document.activeElement === input) {
    results.querySelector('a')?.click();
  }
});
document.addEventListener('click', (event) => {
  if (!search.contains(event.target)) results.hidden = true;
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !event.target.closest('input, textarea, select')) {
    event.preventDefault();
    input.focus();
  }
});
