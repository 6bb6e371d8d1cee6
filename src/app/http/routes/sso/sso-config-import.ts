import { z } from 'zod';
import { entityId, providerCertificates, ssoAddress } from '../../../../contexts/sso/domain/fields.ts';
import { matchingPair, signingNeedsKey } from '../../../../contexts/sso/domain/field-rules.ts';
import {
  MAX_METADATA_BYTES,
  MetadataRefused,
  providerMetadata,
  whyUnreadable,
  type ProviderMetadata,
} from '../../../../contexts/sso/saml/provider-metadata.ts';
import type { DestinationChoice, OutboundSettings } from '../../../../platform/outbound/destinations.ts';
import { DestinationFailed, explainedFetch } from '../../../../platform/outbound/explained-fetch.ts';
import { FailureError, invalid } from '../../../../platform/kernel/failure.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';
import { fieldsOfIssues } from '../../wrong-fields.ts';
import { isPlain, plainAddressesIn } from '../../plain-addresses.ts';
import { reach, samlSettings, trustOf } from './sso-config-bodies.ts';

/** Pasted or fetched, one of the two. */
const source = {
  metadata: z.string().min(1).max(MAX_METADATA_BYTES).optional(),
  metadataUrl: ssoAddress.optional(),
  /** Names one of several providers in the metadata. */
  entityId: entityId.optional(),
  /** How `metadataUrl` may be reached. Nothing of it is stored. */
  ...reach,
};

type Sources = { readonly metadata?: unknown; readonly metadataUrl?: unknown };
const oneSource = ruleBetween<Sources>(['metadata', 'metadataUrl'], ({ metadata, metadataUrl }) =>
  (metadata === undefined) === (metadataUrl === undefined) ? 'give either metadata or metadataUrl' : undefined,
);
interface Pasted {
  readonly metadata?: string | undefined;
  /** May be wrong: the metadata is judged nevertheless. */
  readonly entityId?: unknown;
}
/** Metadata that is fetched is read by `importedProvider`. */
const readableMetadata = ruleBetween<Pasted>(['metadata'], ({ metadata, entityId: wanted }) => {
  if (metadata === undefined) return undefined;
  const { success, data } = entityId.optional().safeParse(wanted);
  const read = success ? readProvider(metadata, data) : whyUnreadable(metadata);
  return typeof read === 'string' ? read : undefined;
});
export const ssoConfigImport = z
  .object({ ...source, ...samlSettings })
  .check(oneSource, readableMetadata, signingNeedsKey, matchingPair);
export const ssoMetadataRefresh = z.object(source).check(oneSource, readableMetadata);

/** For `judge`: the addresses that a body itself has. */
export const judgeImport = (body: unknown, { config }: { readonly config: OutboundSettings }) =>
  plainAddressesIn(body, ['metadataUrl', 'idpSloUrl', 'idpSloResponseUrl'], config);

type Source = z.output<typeof ssoMetadataRefresh>;

/** The metadata of a provider, ready for a configuration. Throws `FailureError` with what is wrong, by field. */
export async function importedProvider(
  { metadata, metadataUrl, entityId: wanted, ...choice }: Source,
  outbound: OutboundSettings,
): Promise<ProviderMetadata> {
  const refused = (reason: string) => new FailureError(invalid(sourceFieldOf({ metadata }), reason));
  const text = metadata ?? (await fetched(metadataUrl!, trustOf(choice), outbound, refused));
  const read = readProvider(text, wanted);
  if (typeof read === 'string') throw refused(read);
  return read;
}

const sourceFieldOf = ({ metadata }: Sources) => (metadata === undefined ? 'metadataUrl' : 'metadata');

type Addresses = Pick<ProviderMetadata, 'idpSsoUrl' | 'idpSloUrl' | 'idpSloResponseUrl'>;

/** Addresses without TLS, which only development mode allows. The field is that of the metadata they come from. */
export function refusePlainProvider(
  asked: Sources,
  { idpSsoUrl, idpSloUrl, idpSloResponseUrl }: Addresses,
  devMode: boolean,
): void {
  if (devMode) return;
  const services = [
    ...(isPlain(idpSsoUrl) ? ['SingleSignOnService'] : []),
    ...([idpSloUrl, idpSloResponseUrl].some((address) => isPlain(address ?? '')) ? ['SingleLogoutService'] : []),
  ];
  const message = `${services.join(' and ')}: must be an https address`;
  if (services.length > 0) throw new FailureError(invalid(sourceFieldOf(asked), message));
}

/** The provider, or why the metadata cannot be used. */
function readProvider(text: string, wanted: string | undefined): ProviderMetadata | string {
  try {
    const provider = providerMetadata(text, wanted, Date.now());
    checked(entityId, provider.idpEntityId, 'entityID');
    checked(ssoAddress, provider.idpSsoUrl, 'SingleSignOnService');
    for (const address of [provider.idpSloUrl, provider.idpSloResponseUrl])
      if (address !== null) checked(ssoAddress, address, 'SingleLogoutService');
    checked(providerCertificates, provider.idpCertificate, 'certificates');
    return provider;
  } catch (error) {
    if (error instanceof MetadataRefused) return error.message;
    throw error;
  }
}

/** The same rules as for a field that was typed in. */
function checked(field: z.ZodType, value: string, part: string): void {
  const { error } = field.safeParse(value, { reportInput: true });
  if (error) throw new MetadataRefused(`${part}: ${fieldsOfIssues(part, error)[0]!.message}`);
}

const OTHERWISE = '; or paste the document as metadata';

async function fetched(
  address: string,
  choice: DestinationChoice,
  outbound: OutboundSettings,
  refused: (reason: string) => FailureError,
): Promise<string> {
  try {
    const fetch = explainedFetch(outbound, choice, { maxBytes: MAX_METADATA_BYTES });
    const response = await fetch(address, {
      headers: { accept: 'application/samlmetadata+xml, application/xml, text/xml' },
    });
    if (response.status !== 200) throw refused(`the address returned status ${response.status}${OTHERWISE}`);
    return await response.text();
  } catch (error) {
    if (error instanceof DestinationFailed) throw refused(error.message + OTHERWISE);
    throw error;
  }
}
