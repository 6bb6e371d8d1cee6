const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE']);

/** The file system takes nothing at the moment: full, read-only, damaged, or out of file descriptors. */
export const isStorageFull = (error: unknown): boolean => CODES.has((error as { code?: unknown } | undefined)?.code);
