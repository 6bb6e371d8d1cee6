import type { FastifyReply, FastifyRequest } from 'fastify';
import { PAGE_POLICY } from './login-page/login-page.ts';

/** True for a browser that navigates here, as opposed to a program: only the former asks for a page. */
export function wantsPage({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const mode = headers['sec-fetch-mode'];
  return (headers.accept ?? '').includes('text/html') && (mode === undefined || mode === 'navigate');
}

export type RefusedStep = 'sign-in' | 'sign-out';

interface Refused {
  readonly step: RefusedStep;
  readonly status: number;
  readonly retryAfter: number | undefined;
}

type Words = readonly [title: string, advice: string];

function wordsOf({ step, status, retryAfter = 0 }: Refused): Words {
  const wait = retryAfter > 1 ? `in ${retryAfter} seconds` : 'in a moment';
  if (status === 429)
    return ['Too many sign-ins at once', `Many people signed in from your network. Try again ${wait}.`];
  if (step === 'sign-out') return wordsOfSignOut(status, wait);
  if (status === 503) return ['Single sign-on is not available now', `Try again ${wait}.`];
  if (status >= 500) return ['Something went wrong', 'Try again in a moment.'];
  if (status === 404) return ['Single sign-on is not set up here', 'Check the address, or sign in with a password.'];
  return ['This sign-in did not work', 'The address is incomplete or too old. Start the sign-in again.'];
}

/** A session that goes on is worse than a sign-in that fails: the advice names the way that always works. */
function wordsOfSignOut(status: number, wait: string): Words {
  const stays = 'If you were signed in to Castellan, you are still signed in.';
  const here = 'Go to the window in which you work with Castellan, and sign out there.';
  return status >= 500
    ? ['This sign-out did not work', `${stays} Try again ${wait}, or sign out in the window in which you work.`]
    : ['This sign-out was refused', `${stays} ${here}`];
}

/** Not after a sign-out: that page knows no session of another window, and would look as if there were none. */
const WAY_BACK = '<p><a class="button second" href="/login">Go to the sign-in page</a></p>';

/** A page in place of an error's JSON, for addresses that browsers are sent to. Contains nothing of the request. */
export function sendRefusalPage(reply: FastifyReply, refused: Refused): FastifyReply {
  const [title, advice] = wordsOf(refused);
  return reply
    .status(refused.status)
    .headers({ 'content-security-policy': PAGE_POLICY, 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title} · Castellan</title>
  <link rel="icon" type="image/svg+xml" href="/login-assets/icon.svg">
  <link rel="stylesheet" href="/login-assets/style.css">
</head>
<body>
  <main>
    <header><img src="/login-assets/icon.svg" alt="" width="40" height="40"><p>Castellan</p></header>
    <section><h1>${title}</h1><p>${advice}</p>${refused.step === 'sign-in' ? WAY_BACK : ''}</section>
  </main>
</body>
</html>
`,
    );
}
