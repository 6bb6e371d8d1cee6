import { ConfigError } from '../../platform/config-error.ts';
import { secretFile } from './given-settings.ts';

/** Refuses a file that cannot be read, or that holds nothing of the kind: a library would say so late, or not at all. */
export function requirePem(setting: string, path: string, kind: 'CERTIFICATE' | 'PRIVATE KEY'): void {
  if (!secretFile(setting, path).includes(`${kind}-----`))
    throw new ConfigError(`${setting} names ${path}, which holds no ${kind} in PEM`);
}
