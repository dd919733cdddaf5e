/** The package has no types of its own. */
declare module 'linebreak' {
  export default class LineBreaker {
    constructor(text: string);
    /** The next place at which a line may be broken (UAX 14). Null at the end. */
    nextBreak(): { readonly position: number; readonly required: boolean } | null;
  }
}
