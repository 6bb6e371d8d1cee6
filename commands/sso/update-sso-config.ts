import { isDeepStrictEqual } from 'node:util';
import type { OidcConfig, SamlConfig, SsoConfig, SsoProtocol } from '../../src/contexts/sso/domain/events.ts';
import {
  refuseContradiction,
  refuseEnabledBeside,
  refuseForeignKey,
  refuseSecretForNewIssuer,
  ssoConfigs,
  ssoConfigsStream,
  ssoSecretLocation,
} from '../../src/contexts/sso/domain/sso-configs.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand, replacedSecret } from '../../src/platform/kernel/command.ts';
import { invalid, notFound, refuseTogether, type Failure } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import type { Vault } from '../../src/platform/vault/vault.ts';
import type { WithAggregates, WithDestinations, WithVault } from '../ports.ts';
import { changesReach, refuseUnreachableIssuer } from './refuse-unreachable-issuer.ts';

type Changes<Config> = {
  readonly [Name in keyof Config as Exclude<Name, 'configId' | 'protocol' | 'secretRef'>]?: Config[Name] | undefined;
};

/** Omitted fields keep their values; fields of the other protocol are ignored. */
interface UpdateSsoConfig {
  readonly configId: string;
  /** If given, it has to equal the configuration's protocol. */
  readonly protocol?: SsoProtocol | undefined;
  readonly changes: Changes<OidcConfig> & Changes<SamlConfig>;
  readonly clientSecret?: string | null | undefined;
  readonly spSigningKey?: string | null | undefined;
}

interface Facts {
  /** Undefined keeps the stored secret; null removes it (OP-138). */
  readonly secretRef: string | null | undefined;
}

export const updateSsoConfig = defineCommand({
  name: 'UpdateSsoConfig',
  aggregate: ssoConfigs,
  stream: (_input: UpdateSsoConfig, { tenantId }) => ssoConfigsStream(tenantId),
  async prepare(
    input: UpdateSsoConfig,
    { vault, aggregates, destinations }: WithVault & WithAggregates & WithDestinations,
    { tenantId },
  ): Promise<Facts | Failure> {
    const stored = await storedConfig(aggregates, tenantId, input.configId);
    if (!stored) return notFound();
    const secret = secretOf(stored, input);
    const refused = refuseTogether(
      // A new secret has no reference yet.
      refuseChange(stored, input, typeof secret === 'string' ? 'new' : secret),
      stored.protocol === 'oidc' && changesReach(input.changes)
        ? await refuseUnreachableIssuer(destinations, withChanges(stored, input.changes))
        : undefined,
      await brokenPair(stored, input, vault, tenantId),
    );
    if (refused) return refused;
    return {
      secretRef:
        typeof secret === 'string' ? await vault.put(tenantId, ssoSecretLocation(stored.configId), secret) : secret,
    };
  },
  decide(state, input, _context, { secretRef }: Facts) {
    const stored = state.get(input.configId);
    if (!stored) return notFound();
    const updated = updatedConfig(stored, input, secretRef);
    const refused = refuseChange(stored, input, secretRef) ?? refuseEnabledBeside(state, updated);
    if (refused) return refused;
    if (isDeepStrictEqual(updated, stored)) return accept([]);
    return accept([{ type: 'SsoConfigUpdated', data: updated }], {
      forget: replacedSecret(stored.secretRef, updated.secretRef),
    });
  },
  freshens: ['sso_configs', 'live-state'],
});

const updatedConfig = (
  stored: SsoConfig,
  { changes }: UpdateSsoConfig,
  secretRef: string | null | undefined,
): SsoConfig => ({
  ...withChanges(stored, changes),
  secretRef: secretRef === undefined ? stored.secretRef : secretRef,
});

/** All that contradicts within the input, and between it and what is stored. */
function refuseChange(
  stored: SsoConfig,
  input: UpdateSsoConfig,
  secretRef: string | null | undefined,
): Failure | undefined {
  const updated = updatedConfig(stored, input, secretRef);
  const { protocol = stored.protocol } = input;
  return refuseTogether(
    protocol === stored.protocol ? undefined : invalid('protocol', 'cannot be changed'),
    refuseMovedSecret(stored, updated),
    refuseContradiction(updated),
  );
}

function withChanges<Config extends SsoConfig>(stored: Config, changes: UpdateSsoConfig['changes']): Config {
  const given = Object.entries(changes).filter(([name, value]) => value !== undefined && name in stored);
  return { ...stored, ...Object.fromEntries(given) };
}

const storedConfig = async (
  aggregates: AggregateReader,
  tenantId: TenantId,
  configId: string,
): Promise<SsoConfig | undefined> => (await aggregates.load(ssoConfigs, ssoConfigsStream(tenantId))).get(configId);

/** A SAML signing key never leaves the service, so only an OpenID Connect secret needs this protection. */
const refuseMovedSecret = (stored: SsoConfig, updated: SsoConfig): Failure | undefined =>
  stored.protocol === 'oidc' && updated.protocol === 'oidc'
    ? refuseSecretForNewIssuer(stored, updated, stored.secretRef !== null && updated.secretRef === stored.secretRef)
    : undefined;

const secretOf = ({ protocol }: SsoConfig, { clientSecret, spSigningKey }: UpdateSsoConfig) =>
  protocol === 'oidc' ? clientSecret : spSigningKey;

/** Certificate and key have to match, even if only one of them changes. */
async function brokenPair(
  stored: SsoConfig,
  { changes, spSigningKey }: UpdateSsoConfig,
  vault: Vault,
  tenantId: TenantId,
): Promise<Failure | undefined> {
  if (stored.protocol !== 'saml' || (changes.spCertificate === undefined && spSigningKey === undefined))
    return undefined;
  const certificate = changes.spCertificate === undefined ? stored.spCertificate : changes.spCertificate;
  if (certificate === null || spSigningKey === null) return undefined;
  const kept =
    stored.secretRef === null
      ? undefined
      : (await vault.get(tenantId, ssoSecretLocation(stored.configId), stored.secretRef))?.toString();
  return refuseForeignKey(certificate, spSigningKey ?? kept ?? null);
}
