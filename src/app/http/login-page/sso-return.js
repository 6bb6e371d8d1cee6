const KEPT = 'castellan-sso-verifier';

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/**
 * A secret of this tab, whose digest goes along to the identity provider and back: only here the code that comes back is
 * worth something. It outlives the way there in the tab's own storage, which nothing else here uses. Answers the address
 * with the digest in it.
 */
export async function leavingAddress(address) {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const challenge = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)));
  sessionStorage.setItem(KEPT, verifier);
  const leaving = new URL(address, location.href);
  leaving.searchParams.set('return_to', 'login');
  leaving.searchParams.set('challenge', challenge);
  return leaving.href;
}

/** Digests are to be had over TLS only, as browsers see it: without, there is no single sign-on from this page. */
export const canReturn = () => globalThis.isSecureContext;

/** The secret that this tab left with; once. */
export function finishReturn() {
  const verifier = sessionStorage.getItem(KEPT) ?? '';
  sessionStorage.removeItem(KEPT);
  return verifier;
}
