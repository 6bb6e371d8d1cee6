import { destinationConnect, destinationFetch, type OutboundSettings } from '../../platform/outbound/destinations.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { Vault } from '../../platform/vault/vault.ts';
import { directorySecretLocation, directorySource, directorySourceStream } from './domain/directory-source.ts';
import type { DirectorySource } from './domain/events.ts';
import { googleServiceAccount } from './domain/google-service-account.ts';
import { MAX_PAGE_BYTES, PAGE_TIMEOUT_MS } from './http/directory-http.ts';
import { EntraReader } from './http/entra-reader.ts';
import { GoogleReader } from './http/google-reader.ts';
import { OktaReader } from './http/okta-reader.ts';
import { activeDirectory, openLdap } from './ldap/ldap-dialect.ts';
import { LdapReader } from './ldap/ldap-reader.ts';
import { DirectoryFailed, type DirectoryReader } from './domain/directory-reader.ts';

/** The reader of a source's kind. Opens no connection yet. `callTimeoutMs`: how long one call may take, where somebody waits. */
export function readerOf(
  source: DirectorySource,
  credential: string,
  settings: OutboundSettings,
  callTimeoutMs?: number,
): DirectoryReader {
  const { config } = source;
  const fetch = () => destinationFetch(settings, source, { maxBytes: MAX_PAGE_BYTES, timeoutMs: PAGE_TIMEOUT_MS });
  switch (config.type) {
    case 'ldap':
    case 'active_directory': {
      const dialect = config.type === 'ldap' ? openLdap : activeDirectory;
      const address = { ...config, bindPassword: credential, caCertificate: source.caCertificate };
      return new LdapReader(address, dialect, destinationConnect(settings, source));
    }
    case 'entra_id':
      return new EntraReader({ ...config, clientSecret: credential }, fetch(), callTimeoutMs);
    case 'google_workspace': {
      const account = googleServiceAccount(credential);
      if (!account) throw new DirectoryFailed('the service account has no usable private key', { isLasting: true });
      return new GoogleReader({ ...config, account }, fetch(), callTimeoutMs);
    }
    case 'okta':
      return new OktaReader({ orgUrl: config.orgUrl, apiToken: credential }, fetch(), callTimeoutMs);
  }
}

/** Opens readers of stored sources, with their credentials from the vault. */
export class DirectoryReaders {
  readonly #aggregates: AggregateReader;
  readonly #vault: Vault;
  readonly #settings: OutboundSettings;

  constructor(aggregates: AggregateReader, vault: Vault, settings: OutboundSettings) {
    this.#aggregates = aggregates;
    this.#vault = vault;
    this.#settings = settings;
  }

  /** Undefined if there is no such source. Throws `DirectoryFailed` if it has no credential. */
  async open(tenantId: TenantId, sourceId: string, callTimeoutMs?: number): Promise<DirectoryReader | undefined> {
    const { source } = await this.#aggregates.load(directorySource, directorySourceStream(tenantId, sourceId));
    if (!source) return undefined;
    const credential =
      source.secretRef === null
        ? undefined
        : await this.#vault.get(tenantId, directorySecretLocation(sourceId), source.secretRef);
    if (!credential) throw new DirectoryFailed('no credential is stored', { isLasting: true });
    return readerOf(source, credential.toString(), this.#settings, callTimeoutMs);
  }
}
