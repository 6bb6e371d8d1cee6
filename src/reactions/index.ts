import type { AnyReaction } from '../kernel/reaction.ts';
import { whenEmployeeDeletedRevokeDevices } from './employees/when-employee-deleted-revoke-devices.ts';
import { whenEmployeeErasedDestroyKey } from './employees/when-employee-erased-destroy-key.ts';

/** Everything the house does by itself because something happened. */
export const reactions: readonly AnyReaction[] = [whenEmployeeDeletedRevokeDevices, whenEmployeeErasedDestroyKey];
