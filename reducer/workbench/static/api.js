// Requests to the server. The token is in the fragment of the page's address.

const token = location.hash.slice(1);

/** Send a request, and return its answer. Throws an Error with `status` and the fields of the answer. */
export async function request(method, path, body) {
  const query = method === "GET" && body ? `?${new URLSearchParams(body)}` : "";
  const sent = { method, headers: { "X-Reducer-Token": token, "Content-Type": "application/json" } };
  if (method !== "GET") sent.body = JSON.stringify(body);
  let response;
  try {
    response = await fetch(`/api/${path}${query}`, sent);
  } catch {
    throw Object.assign(new Error("The server does not answer. Is `reducer serve` still running?"), { status: 0 });
  }
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), answer, { status: response.status });
  return answer;
}

/**
 * Return a function that calls `ask()` and then `show(answer)` after a pause of `delay` ms. While a request is on its
 * way, it waits, and then asks once with the newest state. Answers that are out of date are dropped.
 */
export function latest(delay, ask, show, fail) {
  let timer = 0;
  let isBusy = false;
  let isOld = false;
  async function run() {
    if (isBusy) return;
    isBusy = true;
    isOld = false;
    try {
      const answer = await ask();
      if (!isOld) show(answer);
    } catch (error) {
      if (!isOld) fail(error);
    }
    isBusy = false;
    if (isOld) start();
  }
  function start() {
    isOld = true;
    clearTimeout(timer);
    timer = setTimeout(run, delay);
  }
  return start;
}
