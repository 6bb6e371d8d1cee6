import { z } from 'zod';

const reads = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/**
 * The URL at which browsers reach the service. Paths are appended to it, so it has no query, fragment or credentials, and
 * loses slashes at its end.
 */
export const baseUrlField = z
  .url({ protocol: /^https?$/, error: 'must start with http:// or https://' })
  .max(2_048)
  .refine((text) => {
    const url = reads(text);
    return url !== undefined && !url.username && !url.password && !/[?#]/.test(text);
  }, 'must have no credentials, query or fragment')
  .transform((text) => text.replace(/\/+$/, ''));
