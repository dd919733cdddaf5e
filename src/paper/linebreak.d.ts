/** The package has no types. */
declare module 'linebreak' {
  export default class LineBreaker {
    constructor(text: string);
    /** The next place at which a line may be broken (UAX 14), or null at the end. */
    nextBreak(): { readonly position: number; readonly required: boolean } | null;
  }
}
