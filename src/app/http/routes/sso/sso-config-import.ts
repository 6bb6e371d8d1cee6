import { z } from 'zod';
import { entityId, providerCertificates, ssoAddress } from '../../../../contexts/sso/domain/fields.ts';
import {
  MAX_METADATA_BYTES,
  MetadataRefused,
  providerMetadata,
  type ProviderMetadata,
} from '../../../../contexts/sso/saml/provider-metadata.ts';
import type { DestinationChoice, OutboundSettings } from '../../../../platform/outbound/destinations.ts';
import { DestinationFailed, explainedFetch } from '../../../../platform/outbound/explained-fetch.ts';
import { FailureError, invalid } from '../../../../platform/kernel/failure.ts';
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
const isOneSource = ({ metadata, metadataUrl }: Sources): boolean =>
  (metadata === undefined) !== (metadataUrl === undefined);
const oneSource = {
  path: ['metadata'],
  message: 'give either metadata or metadataUrl',
  // Also beside other wrong fields.
  when: ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null,
};
export const ssoConfigImport = z.object({ ...source, ...samlSettings }).refine(isOneSource, oneSource);
export const ssoMetadataRefresh = z.object(source).refine(isOneSource, oneSource);

type Source = z.output<typeof ssoMetadataRefresh>;

/** The metadata of a provider, ready for a configuration. Throws `FailureError` with what is wrong, by field. */
export async function importedProvider(
  { metadata, metadataUrl, entityId: wanted, ...choice }: Source,
  outbound: OutboundSettings,
): Promise<ProviderMetadata> {
  const field = metadata === undefined ? 'metadataUrl' : 'metadata';
  const refused = (reason: string) => new FailureError(invalid(field, reason));
  const text = metadata ?? (await fetched(metadataUrl!, trustOf(choice), outbound, refused));
  try {
    const provider = providerMetadata(text, wanted, Date.now());
    checked(entityId, provider.idpEntityId, 'entityID');
    checked(ssoAddress, provider.idpSsoUrl, 'SingleSignOnService');
    if (provider.idpSloUrl !== null) checked(ssoAddress, provider.idpSloUrl, 'SingleLogoutService');
    checked(providerCertificates, provider.idpCertificate, 'certificates');
    return provider;
  } catch (error) {
    if (error instanceof MetadataRefused) throw refused(error.message);
    throw error;
  }
}

/** The same rules as for a field that was typed in. */
function checked(field: z.ZodType, value: string, part: string): void {
  const { error } = field.safeParse(value);
  if (error) throw new MetadataRefused(`${part}: ${error.issues[0]!.message}`);
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
