import { createHmac } from 'node:crypto';
import { z } from 'zod';

const PREFIX = 'whsec_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** Bytes of a key, by the specification. */
const KEY_BYTES = { least: 24, most: 64 };
const MIN_CHARACTERS = 16;
const MAX_CHARACTERS = 512;

/** `whsec_` and base64, or any text (choices OP-182 and OP-185). */
export const webhookSecretText = z
  .string()
  .min(MIN_CHARACTERS)
  .max(MAX_CHARACTERS)
  .refine((text) => !text.startsWith(PREFIX) || hasKey(text), 'must be base64 of 24 to 64 bytes after whsec_');

function hasKey(text: string): boolean {
  const encoded = text.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, 'base64').length;
  return BASE64.test(encoded) && bytes >= KEY_BYTES.least && bytes <= KEY_BYTES.most;
}

const keyOf = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);

/**
 * The headers of Standard Webhooks 1.0.0 ("Signature scheme", symmetric): HMAC-SHA256 over id, time and raw body, once
 * for each secret.
 */
export function webhookHeaders(
  secrets: readonly string[],
  { messageId, now, body }: { readonly messageId: string; readonly now: number; readonly body: string },
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(now / 1_000));
  const signed = `${messageId}.${timestamp}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`,
  );
  return { 'webhook-id': messageId, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
