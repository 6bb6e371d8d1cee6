import type { Party } from './party.ts';

/** What an attacker does until the signal. Refusals and errors do not stop it. */
export interface Attack {
  /** Preparation, such as data to query. */
  prepare?(party: Party): Promise<void>;
  attack(party: Party, signal: AbortSignal): Promise<Tally>;
}

/** Numbers of responses by status, as evidence of an attack; `failed` without a response. */
export type Tally = Record<string, number>;

type Ask = () => Promise<{ readonly status: number }>;

/** This many at once, each again as soon as it gets a response. */
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
      // An attacker that is refused at once would only measure the speed of loopback.
      await new Promise((resolve) => setTimeout(resolve, status === 429 || status === 'failed' ? 20 : 0));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
