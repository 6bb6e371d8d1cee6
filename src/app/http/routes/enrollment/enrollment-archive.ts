import yazl from 'yazl';

/** The enrollment configuration of a browser, as a file for software distribution. */
export interface EnrollmentConfig {
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly tenantId: string;
  readonly apiEndpoint: string;
}

/** A zip of `config-001.json`, `config-002.json`, … (OP-169). Built in memory: at most 1,000 small files. */
export async function enrollmentArchive(configs: readonly EnrollmentConfig[]): Promise<Buffer> {
  const archive = new yazl.ZipFile();
  configs.forEach((config, index) => {
    const name = `config-${String(index + 1).padStart(3, '0')}.json`;
    archive.addBuffer(Buffer.from(`${JSON.stringify(config, null, 2)}\n`), name);
  });
  archive.end();
  const parts: Buffer[] = [];
  for await (const part of archive.outputStream) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
