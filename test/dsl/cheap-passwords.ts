import { ARGON2, Passwords } from '../../src/contexts/identity/passwords.ts';

/** Tests check many passwords, and none of them is worth an attack; `test/contexts/identity` has the service's own cost. */
export const cheapPasswords = (): Passwords => new Passwords({ ...ARGON2, memoryCost: 1_024, timeCost: 2 });
