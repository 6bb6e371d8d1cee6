/** The token of an `Authorization` header, if the header is exactly `Bearer <token>`; several spaces are one (RFC 9110 §11.4). */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +([^ ]+)$/i.exec(header ?? '')?.[1];
}
