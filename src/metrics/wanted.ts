/**
 * The kinds of pages that somebody asks for again and again, so that they are worth having ready. For the others only the compressed
 * bytes of each appliance are joined ahead: what is made for nobody is garbage a second later, and clearing it away delays everything else.
 */
export interface Wanted {
  /** The page of all appliances. */
  readonly whole: boolean;
  /** Plain text. */
  readonly texts: boolean;
}
