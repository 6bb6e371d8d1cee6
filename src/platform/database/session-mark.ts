import { randomBytes } from 'node:crypto';

/** Set for every session of this process and read back: this detects a pooler that drops or shares settings. */
export const SESSION_SETTING = 'castellan.session';
export const SESSION = randomBytes(8).toString('hex');
export const SESSION_MARK = `-c ${SESSION_SETTING}=${SESSION}`;
