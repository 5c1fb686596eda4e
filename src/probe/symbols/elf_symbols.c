/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/symbols/elf_symbols.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#define NT_STAPSDT 3

static Elf *open_elf(int fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && (elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64)) {
		elf_end(elf);
		elf = NULL;
	}
	return elf;
}

/* File offset of what is loaded at `address`; 0 when nothing of the file is. */
static uint64_t file_offset(Elf *elf, uint64_t address)
{
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
			return address - segment.p_vaddr + segment.p_offset;
	}
	return 0;
}

static void match_symbol(Elf *elf, const GElf_Sym *symbol, const char *text,
			 const char *const names[], size_t n, uint64_t offsets[])
{
	for (size_t i = 0; i < n; i++) {
		if (!offsets[i] && !strcmp(text, names[i]))
			offsets[i] = file_offset(elf, symbol->st_value);
	}
}

static void search_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			 const char *const names[], size_t n, uint64_t offsets[])
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		const char *text;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
			continue;
		text = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (text)
			match_symbol(elf, &symbol, text, names, n, offsets);
	}
}

int elf_find_functions(int fd, const char *const names[], size_t n, uint64_t offsets[])
{
	Elf *elf = open_elf(fd);
	Elf_Scn *section = NULL;
	int found = 0;

	memset(offsets, 0, n * sizeof(*offsets));
	if (!elf)
		return -ENOEXEC;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB))
			search_table(elf, section, &header, names, n, offsets);
	}
	for (size_t i = 0; i < n; i++)
		found += offsets[i] != 0;
	elf_end(elf);
	return found;
}

static Elf_Scn *section_by_name(Elf *elf, const char *wanted, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, header))
			continue;
		name = elf_strptr(elf, strings, header->sh_name);
		if (name && !strcmp(name, wanted))
			return section;
	}
	return NULL;
}

/*
 * A note: address of the probe, of .stapsdt.base at link time, and of the semaphore; then provider,
 * name and arguments as strings. prelink moves the file but not the notes: hence the base.
 */
static bool match_note(Elf *elf, const char *note, size_t size, uint64_t base, const char *provider,
		       const char *name, struct elf_usdt *place)
{
	size_t provider_len = strlen(provider) + 1, name_len = strlen(name) + 1;
	uint64_t address[3], moved;

	if (size < sizeof(address) + provider_len + name_len)
		return false;
	memcpy(address, note, sizeof(address));
	note += sizeof(address);
	if (memcmp(note, provider, provider_len) || memcmp(note + provider_len, name, name_len))
		return false;
	moved = base ? base - address[1] : 0;
	place->offset = file_offset(elf, address[0] + moved);
	place->semaphore = address[2] ? file_offset(elf, address[2] + moved) : 0;
	return place->offset;
}

static int search_notes(Elf *elf, Elf_Data *data, uint64_t base, const char *provider,
			const char *name, struct elf_usdt places[], size_t max)
{
	size_t at = 0, name_at, desc_at, n = 0;
	GElf_Nhdr header;

	while (n < max && (at = gelf_getnote(data, at, &header, &name_at, &desc_at))) {
		const char *bytes = data->d_buf;

		if (header.n_type == NT_STAPSDT && header.n_namesz == sizeof("stapsdt") &&
		    !memcmp(bytes + name_at, "stapsdt", sizeof("stapsdt")) &&
		    match_note(elf, bytes + desc_at, header.n_descsz, base, provider, name,
			       &places[n]))
			n++;
	}
	return (int)n;
}

int elf_find_usdt(int fd, const char *provider, const char *name, struct elf_usdt places[],
		  size_t max)
{
	Elf *elf = open_elf(fd);
	GElf_Shdr header;
	Elf_Scn *notes;
	Elf_Data *data;
	uint64_t base;
	int n = 0;

	if (!elf)
		return -ENOEXEC;
	base = section_by_name(elf, ".stapsdt.base", &header) ? header.sh_addr : 0;
	notes = section_by_name(elf, ".note.stapsdt", &header);
	data = notes ? elf_getdata(notes, NULL) : NULL;
	if (data)
		n = search_notes(elf, data, base, provider, name, places, max);
	elf_end(elf);
	return n;
}
