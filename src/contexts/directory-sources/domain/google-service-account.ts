import { z } from 'zod';
import { addressField } from '../../../platform/web-addresses/address-field.ts';

/** The parts of a service account's key file that are needed. */
export interface GoogleServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: string;
  readonly keyId: string | null;
  readonly tokenUri: string;
}

const keyFile = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1).max(320),
  private_key: z.string().includes('PRIVATE KEY').max(16_384),
  private_key_id: z.string().max(200).nullish(),
  token_uri: addressField().nullish(),
});

const TOKEN_URI = 'https://oauth2.googleapis.com/token';

/** Reads the key file (JSON) of a service account; undefined if it is none. */
export function googleServiceAccount(text: string): GoogleServiceAccount | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { data } = keyFile.safeParse(json);
  return (
    data && {
      clientEmail: data.client_email,
      privateKey: data.private_key,
      keyId: data.private_key_id ?? null,
      tokenUri: data.token_uri ?? TOKEN_URI,
    }
  );
}
