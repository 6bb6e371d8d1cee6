export interface ExtensionAddressSettings {
  /** `EXTENSION_BASE_URL` */
  readonly extensionBaseUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly tlsPort: number;
}

/**
 * The URL of the listener that requests client certificates, for devices (OP-351). Without the setting: the external URL
 * where a trusted proxy ends TLS and passes certificates on, otherwise the TLS port of the same host.
 */
export function extensionAddress(
  { extensionBaseUrl, trustedProxies, tlsPort }: ExtensionAddressSettings,
  externalBaseUrl: string,
): string {
  if (extensionBaseUrl !== undefined) return extensionBaseUrl;
  const { protocol, hostname } = new URL(externalBaseUrl);
  if (protocol === 'https:' && trustedProxies.length > 0) return externalBaseUrl;
  return new URL(`https://${hostname}:${tlsPort}`).origin;
}
