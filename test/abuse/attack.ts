import type { Party } from './party.ts';

/** What an attacker does until the signal says that it is enough. Refusals and errors stop nobody. */
export interface Attack {
  /** What it takes to begin, such as data to ask for. */
  prepare?(party: Party): Promise<void>;
  attack(party: Party, signal: AbortSignal): Promise<Tally>;
}

/** Answers by status, so that it can be seen that an attack was one; `failed` where there was none. */
export type Tally = Record<string, number>;

type Ask = () => Promise<{ readonly status: number }>;

/** So many at once, each again as soon as it is answered. */
export async function flood(
  tally: Tally,
  signal: AbortSignal,
  what: string,
  atOnce: number,
  request: (turn: number) => ReturnType<Ask>,
): Promise<void> {
  let turn = 0;
  const one = async () => {
    while (!signal.aborted) {
      const status = await request(turn++).then(
        (reply) => reply.status,
        () => 'failed',
      );
      const name = `${what} ${status}`;
      tally[name] = (tally[name] ?? 0) + 1;
      // An attacker that is refused at once would only measure how fast loopback is.
      await new Promise((resolve) => setTimeout(resolve, status === 429 || status === 'failed' ? 20 : 0));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
