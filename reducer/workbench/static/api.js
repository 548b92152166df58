// Requests to the server. The token is in the fragment of the page's address.

const BUSY_DELAY = 200; // milliseconds until the page shows that it waits
const token = location.hash.slice(1);
const QUIET = new Set(["check", "places", "schema"]); // what the user does not wait for
let onBusy = () => {};
let waiting = 0;

/** Call `show(isBusy)` when requests take long, and when all of them are answered. */
export function whenBusy(show) {
  onBusy = show;
}

/** Show that the page is busy while a promise takes long, and return the promise. */
function busyDuring(promise) {
  let isCounted = false;
  const timer = setTimeout(() => {
    isCounted = true;
    if (++waiting === 1) onBusy(true);
  }, BUSY_DELAY);
  return promise.finally(() => {
    clearTimeout(timer);
    if (isCounted && --waiting === 0) onBusy(false);
  });
}

/** Send a request, and return its answer. Throws an Error with `status` and the fields of the answer. */
export function request(method, path, fields) {
  const answer = answered(method, path, fields);
  return QUIET.has(path) ? answer : busyDuring(answer);
}

async function answered(method, path, fields) {
  const query = method === "GET" && fields ? `?${new URLSearchParams(fields)}` : "";
  const body = method === "GET" ? undefined : JSON.stringify(fields);
  const headers = { "X-Reducer-Token": token, "Content-Type": "application/json" };
  const response = await fetch(`/api/${path}${query}`, { method, headers, body }).catch(() => {
    throw new Error("The server does not answer. Is `reducer serve` still running?");
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), answer, { status: response.status });
  return answer;
}

/**
 * Return a function that calls `ask()` and then `show(answer)` after a pause of `delay` ms. While a request is on its
 * way, it waits, and then asks once with the newest state. Answers that are out of date are dropped.
 */
export function latest(delay, ask, show, fail) {
  let [timer, wanted, isBusy] = [0, 0, false];
  async function run() {
    const mine = wanted;
    isBusy = true;
    const finish = await ask().then((answer) => () => show(answer), (error) => () => fail(error));
    isBusy = false;
    if (mine === wanted) finish();
    else start();
  }
  function start() {
    clearTimeout(timer);
    if (!isBusy) timer = setTimeout(run, delay);
  }
  return () => {
    wanted++;
    start();
  };
}
