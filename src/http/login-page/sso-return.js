const KEPT = 'castellan-sso-verifier';

const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/**
 * A secret of this tab, whose digest goes along to the identity provider and back: only here the code that comes back is
 * worth something. It outlives the way there in the tab's own storage, which nothing else here uses. Undefined where the
 * browser offers no digests: on an address without TLS.
 */
export async function startReturn(links) {
  if (!globalThis.isSecureContext) return undefined;
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  for (const link of links) link.addEventListener('click', () => sessionStorage.setItem(KEPT, verifier));
  return base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)));
}

/** The secret that this tab left with; once. */
export function finishReturn() {
  const verifier = sessionStorage.getItem(KEPT) ?? '';
  sessionStorage.removeItem(KEPT);
  return verifier;
}
