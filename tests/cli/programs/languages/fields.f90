! Allocates as programs in Fortran do. cases_languages.bash says which procedures have rows.
module fields
  implicit none
  type :: grid
    real(8), allocatable :: values(:,:)
    character(len=:), allocatable :: name
  contains
    procedure :: refine
  end type
  type, extends(grid) :: named_grid
    real(8), allocatable :: more(:)
  end type
  type :: node
    type(node), pointer :: next => null()
    real(8) :: data(20)
  end type
contains
  subroutine make_grid(g, n)
    type(grid), intent(out) :: g
    integer, intent(in) :: n
    allocate(g%values(n, n))
    g%values = 1.0d0
    g%name = "a grid with a name that is long"
  end subroutine
  subroutine refine(self, n)
    class(grid), intent(inout) :: self
    integer, intent(in) :: n
    real(8), allocatable :: bigger(:,:)
    allocate(bigger(n, n))
    bigger = 0
    call move_alloc(bigger, self%values)
  end subroutine
  subroutine push(list, x)
    type(node), pointer, intent(inout) :: list
    real(8), intent(in) :: x
    type(node), pointer :: n
    allocate(n)
    n%data = x
    n%next => list
    list => n
  end subroutine
  function label(i) result(s)
    integer, intent(in) :: i
    character(len=:), allocatable :: s
    character(len=20) :: buffer
    write(buffer, '(i0)') i
    s = "label " // trim(buffer) // repeat("-", 50)
  end function
  subroutine clone(a, b)
    class(grid), intent(in) :: a
    class(grid), allocatable, intent(out) :: b
    allocate(b, source=a)
  end subroutine
  subroutine outer(n)
    integer, intent(in) :: n
    call inner()
  contains
    subroutine inner()
      real(8), allocatable, save :: kept(:)
      allocate(kept(n))
      kept = 2
    end subroutine
  end subroutine
end module
module files
contains
  subroutine read_line(name)
    character(len=*), intent(in) :: name
    integer :: unit, ios
    character(len=80) :: line
    open(newunit=unit, file=name, status="old", action="read")
    read(unit, '(a)', iostat=ios) line
    close(unit)
  end subroutine
end module
program main
  use fields
  use files
  implicit none
  type(grid) :: g
  type(named_grid) :: h
  class(grid), allocatable :: copy
  type(node), pointer :: list => null()
  character(len=:), allocatable :: s
  integer :: i
  call make_grid(g, 50)
  call g%refine(100)
  do i = 1, 100
    call push(list, i * 1d0)
    s = label(i)
  end do
  allocate(h%more(700))
  call clone(h, copy)
  call outer(300)
  call read_line("fields.f90")
  print *, len(s), allocated(copy)
end program
! SPDX-License-Identifier: MIT
