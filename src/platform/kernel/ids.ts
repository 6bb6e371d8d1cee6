import { z } from 'zod';

/**
 * The id of a tenant or organization: the owner of streams, rows, keys and an audit chain. Branded, so that no other
 * string is accepted where a tenant id is needed.
 */
export type TenantId = string & z.$brand<'TenantId'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Any RFC 9562 UUID, converted to lower case, so that an id has one spelling everywhere. */
export const uuid = () =>
  z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(z.string().regex(UUID, 'must be a UUID'))
    .meta({ format: 'uuid' });

export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text.toLowerCase());

/** Makes a UUID (version 8, RFC 9562 §5.8) from the first 16 octets of a digest. */
export function uuidOf(digest: Buffer): string {
  const octets = Buffer.from(digest.subarray(0, 16));
  octets[6] = 0x80 | (octets[6]! & 0x0f);
  octets[8] = 0x80 | (octets[8]! & 0x3f);
  return octets.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export const asTenantId = (text: string): TenantId => {
  const folded = text.toLowerCase();
  if (!UUID.test(folded)) throw new TypeError('a tenant id is a UUID');
  return folded as TenantId;
};

/** The owner of data of the whole installation: "set-up is complete", organization slugs, retention runs. */
export const INSTALLATION = asTenantId('00000000-0000-0000-0000-000000000000');
