import { accessSync, constants } from 'node:fs';

/** Whether this user may write to a file that is there. */
export const mayWrite = (file: string): boolean => isAllowed(file, constants.W_OK);

/** Whether this user may create files in a folder that is there. */
export const mayWriteIn = (folder: string): boolean => isAllowed(folder, constants.W_OK | constants.X_OK);

function isAllowed(path: string, rights: number): boolean {
  try {
    accessSync(path, rights);
    return true;
  } catch {
    return false;
  }
}
