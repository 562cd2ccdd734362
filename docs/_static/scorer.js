// The order of search results: pages that answer one question come first.
var Scorer = {
  score: ([page, , , , score]) =>
    score + (/^howto\/|^explanation\/graphql/.test(page) ? 20 : page.startsWith("tutorials/") ? -5 : 0),
  objNameMatch: 11,
  objPartialMatch: 3,
  objPrio: { 0: 5, 1: 2, 2: -5 },
  objPrioDefault: 0,
  title: 40,
  partialTitle: 15,
  term: 5,
  partialTerm: 2,
};
