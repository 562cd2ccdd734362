// The order of search results: pages that answer one question come first.
var Scorer = {
  score: ([page, , , , score]) =>
    score + (page.endsWith("index") ? -100 // a list of pages has the words of all titles
      : /^howto\/|^explanation\/graphql/.test(page) ? 20
      : page.startsWith("tutorials/") ? -5 : 0),
  objNameMatch: 11,
  objPartialMatch: 3,
  objPrio: { 0: 5, 1: 2, 2: -5 },
  objPrioDefault: 0,
  title: 40,
  partialTitle: 15,
  term: 5,
  partialTerm: 2,
};

// Sphinx lists only pages that contain all words, by the best place of one of them. A question in
// someone's own words often has a word that its page lacks. So the other pages follow, ranked by all
// words that they contain, of which rare ones count for more; the same sum decides between equals.
const findPages = Search.performTermsSearch;
Search.performTermsSearch = (words, excluded) => {
  const sums = new Map();
  for (const word of words) {
    const pages = findPages(new Set([word]), excluded);
    const weight = Math.log(1 + Search._index.docnames.length / pages.length);
    for (const page of pages) {
      const sum = page[4] * weight + (sums.get(page[0])?.[4] ?? 0);
      sums.set(page[0], page.with(4, sum));
    }
  }
  const results = findPages(words, excluded);
  for (const page of results) {
    page[4] += (sums.get(page[0])?.[4] ?? 0) / 1000;
    sums.delete(page[0]);
  }
  return [...results, ...[...sums.values()].map((page) => page.with(4, page[4] - 1000))];
};
