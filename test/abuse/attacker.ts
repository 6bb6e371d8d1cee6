import { constants, setPriority } from 'node:os';
import type { Attack } from './attack.ts';
import { attacks, type AttackName } from './attacks.ts';
import type { Party } from './party.ts';

/**
 * An attack in a process of its own, of low priority, so that it does not take its time from whoever is measured: `attacker.ts <attack>`, with the hostile
 * tenant as JSON in `HOSTILE`. It prints `attacking` when it has begun, and on SIGTERM what it was answered.
 */
const attack: Attack = attacks[process.argv[2] as AttackName];
const party = JSON.parse(process.env['HOSTILE']!) as Party;
const enough = new AbortController();
// An attacker has a machine of its own: on this one it is not to take the service's.
setPriority(constants.priority.PRIORITY_LOW);
process.on('SIGTERM', () => enough.abort());

await attack.prepare?.(party);
process.stdout.write('attacking\n');
const tally = await attack.attack(party, enough.signal);
process.stdout.write(`${JSON.stringify(tally)}\n`);
process.exit(0);
