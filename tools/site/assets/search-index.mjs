// How the site searches: the page and the tests build the same index.

/** Words of a question that name nothing of what is asked for. */
const FILLERS = new Set(
  'a an and are by can do does for how i in is it its me my of on or the there to what when where which who why with'.split(
    ' ',
  ),
);

/**
 * Builds the index of the site's entries.
 * @param MiniSearch the class of the package
 */
export function buildIndex(MiniSearch, entries) {
  const index = new MiniSearch({
    fields: ['page', 'heading', 'text'],
    storeFields: ['page', 'heading', 'text'],
    processTerm: (term) => (FILLERS.has(term.toLowerCase()) ? null : term.toLowerCase()),
    searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  index.addAll(entries);
  return index;
}
