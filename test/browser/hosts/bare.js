import 'mastery-reports-element';

const element = document.createElement('mastery-report');
document.documentElement.dir = new URLSearchParams(location.search).get('dir') ?? 'ltr';
document.querySelector('main').append(element);

/** Shows what the test hands over. Functions cannot be handed over: a failure and the reports of a class come as values. */
globalThis.show = ({ data, failure, ...knowledge }) => {
  Object.assign(element, { names: {}, precedes: [], learner: undefined, ...knowledge });
  if (failure !== undefined)
    element.load = () => Promise.reject(Object.assign(new Error('it failed'), { problem: failure }));
  else if (data?.kind === 'class') element.data = { ...data, reportOf: reportOf(data.reports) };
  else element.data = data;
};

const reportOf = (reports) => async (learner) => {
  const report = reports[learner];
  if (report === 'never') return new Promise(() => {});
  if (report === 'fails') throw new Error('it failed');
  return report ?? undefined;
};
