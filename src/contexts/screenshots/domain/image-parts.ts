/** In pixels, as the file's own header says. */
export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

/** Why bytes are not an image that is kept: fixed words, to stand behind "file:". */
export class ImageRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ImageRefused';
  }
}
