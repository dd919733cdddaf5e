import { ar } from './strings/ar.ts';
import { de } from './strings/de.ts';
import { en, type Strings } from './strings/en.ts';
import { es } from './strings/es.ts';
import { fr } from './strings/fr.ts';
import { ja } from './strings/ja.ts';
import { pt } from './strings/pt.ts';

/** The texts of the dashboard in all languages, for the server. The browser gets only the texts of its language, in the document. */
export const STRINGS: Readonly<Record<string, Strings>> = { en, de, fr, es, pt, ja, ar };
