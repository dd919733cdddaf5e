import { ar } from './strings/ar.ts';
import { de } from './strings/de.ts';
import { en, type Strings } from './strings/en.ts';
import { es } from './strings/es.ts';
import { fr } from './strings/fr.ts';
import { ja } from './strings/ja.ts';
import { pt } from './strings/pt.ts';

export const STRINGS: Readonly<Record<string, Strings>> = { en, de, fr, es, pt, ja, ar };
