import { v5 } from 'uuid';

/** UUIDv5 namespaces (RFC 9562 §5.5). Ids derive from the host, so that a rebuild yields the same ones. */
const ENDPOINTS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a03';
const AUTH_ENDPOINTS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a04';

export const endpointId = (tenantId: string, domain: string): string => v5(`${tenantId}|${domain}`, ENDPOINTS);
export const authEndpointId = (tenantId: string, domain: string): string => v5(`${tenantId}|${domain}`, AUTH_ENDPOINTS);
