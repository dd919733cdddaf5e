import type { Language } from '../../domain/mail.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en, type Words } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ja } from './ja.ts';
import { pt } from './pt.ts';

export const WORDS: Readonly<Record<Language, Words>> = { ar, de, en, es, fr, ja, pt };
