import packageJson from '../../package.json' with { type: 'json' };

/** The version of the running service: what `/health` and the OpenAPI document name. */
export const version: string = packageJson.version;
