import { z } from 'zod';
import type { GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import { isSignedStatement, signatureOctets, updateKey } from './domain/signed-statements.ts';
import { softwareVersion } from './domain/software-version.ts';
import type { UpdateSettings } from './domain/update-settings.ts';

export interface FoundUpdate {
  readonly version: string;
  readonly releaseNotes: string | null;
  /** Where the bundle is; null: the announcement does not say. */
  readonly bundle: AnnouncedBundle | null;
}

const bundleSchema = z.object({
  /** Judged when it is called, as every address that it redirects to. */
  url: z.string().max(2_000),
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/)
    .transform((digest) => digest.toLowerCase()),
  /** Ed25519, in base64, of the statement with version and digest. */
  signature: z.string().max(200),
});
export type AnnouncedBundle = z.output<typeof bundleSchema>;

/** The feed cannot be used. The reason is in fixed words: nothing of the response is repeated. */
export class AnnouncementRefused extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'AnnouncementRefused';
  }
}

export const MAX_ANNOUNCEMENT_BYTES = 128 * 1024;

const announcement = z.object({
  /** Tells the document apart from everything else that the key signs. */
  type: z.literal('castellan-update-feed'),
  version: z.string().max(64),
  releaseNotes: z.string().max(20_000).nullish(),
  /** An announcement that is older cannot be used to hide a later one. */
  expiresAt: z.iso.datetime({ offset: true }).nullish(),
  bundle: bundleSchema.nullish(),
});
const envelope = z.object({ document: z.string().max(60_000), signature: z.string().max(200) });

/** The operator's feed (`UPDATE_FEED_URL`): which version there is. */
export class UpdateAnnouncements {
  readonly #settings: Pick<UpdateSettings, 'feedUrl' | 'publicKey'>;
  readonly #fetch: GuardedFetch;

  constructor(settings: Pick<UpdateSettings, 'feedUrl' | 'publicKey'>, fetch: GuardedFetch) {
    this.#settings = settings;
    this.#fetch = fetch;
  }

  get isConfigured(): boolean {
    return this.#settings.feedUrl !== undefined;
  }

  /**
   * With a key, the response is `{document, signature}`, where `document` is the text of the announcement, and its
   * signature is checked before it is read. Throws `AnnouncementRefused`.
   */
  async ask(now: number): Promise<FoundUpdate> {
    const { feedUrl, publicKey } = this.#settings;
    if (feedUrl === undefined) throw new AnnouncementRefused('there is no feed');
    const text = await responseOf(this.#fetch, feedUrl);
    const said = announcementIn(publicKey === undefined ? text : signedDocument(text, publicKey));
    if (said.expiresAt && Date.parse(said.expiresAt) <= now)
      throw new AnnouncementRefused('the announcement has expired');
    const version = softwareVersion(said.version);
    if (version === undefined) throw new AnnouncementRefused('the feed names no version');
    const releaseNotes = said.releaseNotes?.toWellFormed().replaceAll('\0', '') ?? null;
    return { version, releaseNotes, bundle: said.bundle ?? null };
  }
}

async function responseOf(fetch: GuardedFetch, url: string): Promise<string> {
  try {
    const response = await fetch(url, { headers: { accept: 'application/json' } });
    if (response.status === 200) return await response.text();
  } catch (error) {
    throw new AnnouncementRefused('the feed did not respond properly', error);
  }
  throw new AnnouncementRefused('the feed did not respond with status 200');
}

function signedDocument(text: string, publicKey: string): string {
  const read = envelope.safeParse(parsed(text));
  if (!read.success) throw new AnnouncementRefused('the feed is not signed');
  const signature = signatureOctets(read.data.signature);
  if (!signature || !isSignedStatement(updateKey(publicKey), read.data.document, signature))
    throw new AnnouncementRefused('the signature of the feed is wrong');
  return read.data.document;
}

function announcementIn(text: string) {
  const read = announcement.safeParse(parsed(text));
  if (!read.success) throw new AnnouncementRefused('the feed is not an announcement');
  return read.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
