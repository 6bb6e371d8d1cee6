/** A client's registration at one issuer, with its secret opened. */
export interface OpenIdClient {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: string | null;
  readonly scopes: string;
}

/** What a browser takes along, and what has to come back with it. */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636; its S256 digest goes out, itself only to the token endpoint. */
  readonly codeVerifier: string;
  /** Whether the person has to authenticate at the issuer anew, whatever session they have there. */
  readonly reauthenticates?: boolean;
}

/** Whom the issuer signed in: signature, issuer, audience, times and nonce have been verified. */
export interface OpenIdIdentity {
  readonly subject: string;
  /** Verified by the issuer. */
  readonly email: string;
}

/**
 * An OpenID Connect provider, as the code flow needs it (OpenID Connect Core 1.0 §3.1). Every call reads the issuer's
 * discovery document anew: keys and endpoints are those of this moment. All of them throw `SsoRefused`.
 */
export interface OpenIdProvider {
  /** Where to send the browser. */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>;
  /** `query` is what the browser came back with: code, state and, from issuers that say so, `iss` (RFC 9207). */
  redeem(query: URLSearchParams, request: AuthorizationRequest): Promise<OpenIdIdentity>;
  /** RP-Initiated Logout 1.0; null where the issuer has no such thing. Names the client, never a token or a person. */
  endSessionUrl(): Promise<URL | null>;
}
