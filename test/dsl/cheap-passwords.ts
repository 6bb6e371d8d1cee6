import { ARGON2, Passwords } from '../../src/contexts/identity/passwords.ts';

/** Tests check many passwords, and none needs protection; `test/contexts/identity` tests the production parameters. */
export const cheapPasswords = (): Passwords => new Passwords({ ...ARGON2, memoryCost: 1_024, timeCost: 2 });
