import { z } from 'zod';

/** Keyed digests of a person and of a session at a SAML provider. */
export const samlMarksSchema = z.object({ name: z.string(), index: z.string() });
export type SamlMarks = z.output<typeof samlMarksSchema>;

/** Whom a request for logout names, as digests. */
export interface NamedByLogout {
  readonly name: string;
  /** The provider (entity id): a name of another one, which the configuration had before, is somebody else's. */
  readonly issuer: string;
  /** Empty: every session of that name. */
  readonly indexes: readonly string[];
  /** By the provider's clock, in epoch milliseconds. */
  readonly issuedAt: number;
}
