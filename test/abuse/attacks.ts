import type { Attack } from './attack.ts';
import { hostileAnalyst } from './hostile-analyst.ts';
import { hostileDevice } from './hostile-device.ts';
import { hostileTenant } from './hostile-tenant.ts';

/** The attackers. */
export const attacks = {
  'one hostile device': hostileDevice,
  'one hostile analyst': hostileAnalyst,
  'one hostile tenant': hostileTenant,
} satisfies Readonly<Record<string, Attack>>;
export type AttackName = keyof typeof attacks;
