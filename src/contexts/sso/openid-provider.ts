/** A client's registration at one issuer, with its secret decrypted. */
export interface OpenIdClient {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  readonly scopes: string;
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
}

/** The identity that the issuer signed in: signature, issuer, audience, times and nonce have been verified. */
export interface OpenIdIdentity {
  readonly subject: string;
  /** Verified by the issuer. */
  readonly email: string;
}

/**
 * An OpenID Connect provider, as the code flow needs it (OpenID Connect Core 1.0 §3.1). Every call reads the issuer's
 * discovery document again, so keys and endpoints are current. All methods throw `SsoRefused`.
 */
export interface OpenIdProvider {
  /** The address to redirect the browser to. */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>;
  /** `query` contains the callback's parameters: code, state and, from issuers that send it, `iss` (RFC 9207). */
  redeem(query: URLSearchParams, request: AuthorizationRequest): Promise<OpenIdIdentity>;
  /**
   * RP-Initiated Logout 1.0; null if the issuer does not support it. Identifies the client, never a token or a person.
   */
  endSessionUrl(): Promise<URL | null>;
}
