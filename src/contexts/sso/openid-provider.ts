import type { ClientAuthentication } from './domain/fields.ts';
import type { LoggedOut } from './logout-token.ts';

/** A client's registration at one issuer, with its secret decrypted. */
export interface OpenIdClient {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  readonly scopes: string;
  readonly clientAuthentication: ClientAuthentication;
  /** The owner vouches for e-mails about which the issuer says nothing. */
  readonly emailsVerified: boolean;
}

/** The values of an authorization request, which its callback has to match. */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636: the request contains its S256 digest; the verifier itself is sent only to the token endpoint. */
  readonly codeVerifier: string;
  /** True if the user has to authenticate at the issuer again, even with a session there. */
  readonly reauthenticates?: boolean;
  /** The person whom the issuer expects to sign in (Core 1.0 §3.1.2.1); never trusted here. */
  readonly loginHint?: string | undefined;
}

/** The identity that the issuer signed in: signature, issuer, audience, times and nonce have been verified. */
export interface OpenIdIdentity {
  readonly subject: string;
  /** Verified by the issuer. */
  readonly email: string;
}

export interface RedeemedIdentity extends OpenIdIdentity {
  /** The session at the issuer (`sid`), if it names one. */
  readonly providerSessionId: string | undefined;
  /** Only for the logout at the issuer. */
  readonly idToken: string;
  /** When the issuer made the ID token (`iat`), by its clock in epoch seconds. */
  readonly issuedAt: number;
}

/** Where the issuer sends the browser after the logout, and whom it concerns. */
export interface ProviderLogout {
  readonly returnTo: string;
  readonly idTokenHint: string | undefined;
  /** Returned to `returnTo`. */
  readonly state: string;
}

/**
 * An OpenID Connect provider, as the code flow needs it (OpenID Connect Core 1.0 §3.1). Every call reads the issuer's
 * discovery document again, so keys and endpoints are current. All methods throw `SsoRefused`.
 */
export interface OpenIdProvider {
  /** The address to redirect the browser to. */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>;
  /** `query` contains the callback's parameters: code, state and, from issuers that send it, `iss` (RFC 9207). */
  redeem(query: URLSearchParams, request: AuthorizationRequest): Promise<RedeemedIdentity>;
  /**
   * RP-Initiated Logout 1.0; null if the issuer does not support it. A hint that is not this client's is left out.
   */
  endSessionUrl(request: ProviderLogout): Promise<URL | null>;
  /**
   * Whom a logout token names (Back-Channel Logout 1.0 §2.6). Its signature and claims have been verified, but not
   * whether it was used before. Throws `LogoutRefused`, too.
   */
  loggedOut(token: string): Promise<LoggedOut>;
}
