import { constants, setPriority } from 'node:os';
import type { Attack } from './attack.ts';
import { attacks, type AttackName } from './attacks.ts';
import type { Party } from './party.ts';

/**
 * An attack in a separate process of low priority, so that it does not take CPU time from the measured one:
 * `attacker.ts <attack>`, with the hostile tenant as JSON in `HOSTILE`. It prints `attacking` when it has begun, and on
 * SIGTERM the responses that it got.
 */
const attack: Attack = attacks[process.argv[2] as AttackName];
const party = JSON.parse(process.env['HOSTILE']!) as Party;
const enough = new AbortController();
// A real attacker has its own machine: here it must not take the service's CPU time.
setPriority(constants.priority.PRIORITY_LOW);
process.on('SIGTERM', () => enough.abort());

async function main(): Promise<void> {
  await attack.prepare?.(party);
  process.stdout.write('attacking\n');
  const tally = await attack.attack(party, enough.signal);
  process.stdout.write(`${JSON.stringify(tally)}\n`);
  process.exit(0);
}

void main();
