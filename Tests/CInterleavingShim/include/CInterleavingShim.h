#ifndef CINTERLEAVINGSHIM_H
#define CINTERLEAVINGSHIM_H

/*
 * A library to be preloaded into a program under test, which then makes its file calls when a scheduler permits them; see
 * CInterleavingTurn. Time passes only as the scheduler says, and random numbers follow from the number of the slot.
 *
 *   INTERLEAVING_CONTROL  the file with the InterleavingControl
 *   INTERLEAVING_SLOT     the number of the program's slot
 *   INTERLEAVING_ROOT     the folder below which every file call is a point
 *   INTERLEAVING_OUTPUT   the file for the output of each run
 *
 * The program is a fork server: loaded once, it forks a child for each run, which calls the main function.
 *
 * A program that only prepares a run is not scheduled. A fixed stream of random numbers gives its files the same names in
 * each run:
 *
 *   INTERLEAVING_STREAM   the number of the stream of its random numbers
 */

#endif
